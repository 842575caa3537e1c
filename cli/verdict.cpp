#include "verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "judge/judge.hpp"
#include "system/plural.hpp"
#include "system/terminal.hpp"
#include "workbook.hpp"

namespace workbook {
namespace {

using nlohmann::json;

/// "  right  N = 1 2 3": the shapes, a line for those that were tried in the same ways.
std::string cases_text(const json& verdict, bool right) {
  std::vector<std::string> ways;  // in the order of their first case
  std::map<std::string, std::string> shapes_of;
  for (const json& one : verdict.at("cases")) {
    if (one.at("right") != right) continue;
    const std::string how = one.at("how");
    if (!shapes_of.count(how)) ways.push_back(how);
    shapes_of[how] += " " + one.at("shape").get<std::string>();
  }
  std::vector<std::pair<std::string, std::string>> lines;  // the shapes, and the ways
  for (const std::string& how : ways) {
    const auto same = std::find_if(lines.begin(), lines.end(),
                                   [&](const auto& line) { return line.first == shapes_of.at(how); });
    if (same == lines.end())
      lines.emplace_back(shapes_of.at(how), how);
    else
      same->second += (same->second.empty() ? "as they are; " : "; ") + how;
  }
  std::string out;
  for (const auto& [shapes, how] : lines) {
    std::string text = wrapped(fmt::format("{} ={}{}", verdict.at("dims").get<std::string>(), shapes,
                                           how.empty() ? "" : " (" + how + ")"),
                               9);
    const std::string label = right ? "right" : "wrong";
    if (out.empty()) text.replace(2, label.size(), label);
    out += text;
  }
  return out;
}

/// Where the exercise has several outputs: which of them are right and which are wrong, in the cases in which
/// some are wrong.
std::string outputs_text(const json& verdict) {
  std::istringstream names(verdict.value("outputs", ""));
  const std::vector<std::string> outputs{std::istream_iterator<std::string>(names), {}};
  if (outputs.size() < 2) return "";
  std::vector<std::string> shapes;  // of the cases in which some are wrong
  std::map<std::string, std::size_t> wrong_cases;
  for (const json& one : verdict.at("cases")) {
    const auto wrong = one.value("wrong_outputs", std::vector<std::string>());
    if (!wrong.empty()) shapes.push_back(one.at("shape"));
    for (const std::string& output : wrong) ++wrong_cases[output];
  }
  if (shapes.empty()) return "";
  std::string right_names, wrong_names, mixed_names;
  for (const std::string& output : outputs) {
    const std::size_t wrong = wrong_cases[output];
    (wrong == 0 ? right_names : wrong == shapes.size() ? wrong_names : mixed_names) += " " + output;
  }
  const auto line = [](const char* label, const std::string& listed) {
    return listed.empty() ? "" : wrapped(label + listed, 4);
  };
  const std::string where = shapes.size() == 1
                                ? fmt::format("at {} = {}", verdict.at("dims").get<std::string>(), shapes[0])
                                : "in the cases that were compared and are wrong";
  return fmt::format("\n  Outputs {}:\n", where) + line("right:", right_names) + line("wrong:", wrong_names) +
         line("wrong in some of them:", mixed_names);
}

/// Whether a case's message is a finding of the CPU device, which has several lines and begins with its kind.
/// Other mistakes have one line.
bool is_finding(const std::string& message) { return message.find('\n') != std::string::npos; }

/// Whether the CPU device found the cause of a wrong case.
bool has_finding(const json& verdict) {
  const json& cases = verdict.at("cases");
  return std::any_of(cases.begin(), cases.end(),
                     [](const json& one) { return !one.at("right") && is_finding(one.at("message")); });
}

/// The message of the first mistake of each kind.
std::string mistakes_text(const json& verdict) {
  std::set<std::string> kinds;
  std::string out;
  for (const json& one : verdict.at("cases")) {
    if (one.at("right")) continue;
    const std::string message = one.at("message");
    const bool finding = is_finding(message);
    if (!kinds.insert(finding ? message.substr(0, message.find(':')) : "").second) continue;
    const std::string how = one.at("how");
    out += fmt::format("\n  {} = {}{}:\n{}", verdict.at("dims").get<std::string>(),
                       one.at("shape").get<std::string>(), how.empty() ? "" : " (" + how + ")",
                       finding ? indented(message, 2) : wrapped(message, 2));
  }
  return out;
}

/// The amount that was counted and the amount that is allowed, with enough digits to show the difference.
std::pair<std::string, std::string> amounts(const json& limit) {
  const double counted = limit.at("counted"), allowed = limit.at("allowed");
  std::string one, other;
  for (int digits = limit.at("per_element").get<bool>() ? 1 : 0; digits < 10; ++digits) {
    one = fmt::format("{:.{}f}", counted, digits);
    other = fmt::format("{:.{}f}", allowed, digits);
    if (counted == allowed || one != other || !limit.at("over")) break;
  }
  return {(limit.at("approximate") ? "≈" : "") + one, other};
}

std::string budget_text(const json& verdict) {
  if (verdict.at("budget").empty()) return "";
  const json& last = verdict.at("cases").back();
  const std::string how = last.at("how");
  Table table({}, {fmt::format("  cost at {} = {}{}", verdict.at("dims").get<std::string>(),
                               last.at("shape").get<std::string>(), how.empty() ? "" : ", " + how),
                   "counted", "allowed"});
  std::string excesses;
  for (const json& limit : verdict.at("budget")) {
    const std::string what = limit.at("what");
    const bool over = limit.at("over");
    const auto [counted, allowed] = amounts(limit);
    table.add({"  " + what, counted, allowed}, over ? "too many" : "");
    if (over)
      excesses += "\n" + wrapped(fmt::format("{} {}, allowed {}: {}.", what, counted, allowed,
                                             limit.at("excess").get<std::string>()),
                                 2);
  }
  // A question has its own mark at the end.
  for (auto at = excesses.find("?."); at != std::string::npos; at = excesses.find("?."))
    excesses.erase(at + 1, 1);
  return "\n" + table.text() + excesses;
}

/// The answer to a prediction, which does not give the number away.
std::string compared_text(const std::string& counted) {
  if (counted == "right") return "the same";
  if (counted == "more") return "more than predicted";
  if (counted == "fewer") return "less than predicted";
  if (counted == "other") return "something else";
  if (counted == "no answer") return "no answer yet";
  return "not compared: predict a number";
}

std::string predictions_text(const json& verdict) {
  if (verdict.at("predictions").empty()) return "";
  Table table({}, {"  what", "predicted", "actual"});
  std::string slips;
  for (const json& one : verdict.at("predictions")) {
    const std::string name = one.at("name"), unit = one.at("unit"), near = one.at("near"),
                      slip = one.at("slip");
    table.add({fmt::format("  {}{}{}", name, unit.empty() ? "" : ", ", unit), one.at("predicted"),
               near.empty() ? compared_text(one.at("counted")) : near + ", near enough"});
    if (!slip.empty()) slips += "\n" + wrapped(fmt::format("{}: {}.", name, slip), 2);
  }
  return table.text() + slips;
}

/// Notes of the CPU device: they stand beside the verdict and do not change it.
std::string notes_text(const json& verdict) {
  std::string out;
  for (const json& note : verdict.at("notes")) out += "\n" + indented(note.get<std::string>(), 2);
  return out;
}

/// How a program ended that wrote no verdict.
std::string end_text(const Outcome& outcome, const std::string& at) {
  const std::string when = at.empty() ? "before it began to check" : "at " + at;
  switch (outcome.end) {
    case Outcome::End::kTooLong:
      return fmt::format("It was still running after {}, {}, and was stopped: is there an infinite loop?",
                         duration_text(judging_time()), when);
    case Outcome::End::kTooMuchOutput:
      return fmt::format(
          "It was stopped after {} KiB of output, {}: does a loop print in each iteration, or without end?",
          outcome.output.size() / 1024, when);
    case Outcome::End::kSignal:
      return fmt::format("It crashed, {}: {}. That happened in host code, outside of every kernel.", when,
                         strsignal(outcome.code));
    case Outcome::End::kExited:
      return fmt::format("The program ended itself, {}, with exit status {}: does your file call exit?", when,
                         outcome.code);
  }
  return "";
}

/// The first lines of what the reader's code printed.
std::string output_text(const std::string& output) {
  if (output.empty()) return "";
  constexpr std::size_t kMostLines = 20, kMostCharacters = 2000;
  std::size_t end = 0;
  for (std::size_t line = 0; line < kMostLines && end < output.size(); ++line) {
    const auto next = output.find('\n', end);
    end = next == std::string::npos ? output.size() : next + 1;
  }
  end = std::min(end, kMostCharacters);
  std::string shown = output.substr(0, end);
  for (char& c : shown)  // control characters could change the terminal's settings
    if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') c = '?';
  return "\n  It printed:\n" + indented(shown, 4) + (end < output.size() ? "    ...\n" : "");
}

/// The text with its first sentence in bold.
std::string with_bold(std::string text) {
  const std::size_t end = text.find('.') + 1;
  return text.replace(0, end, bold(text.substr(0, end)));
}

/// The status that a judging program wrote; nothing when it wrote none.
std::optional<VerdictStatus> status_in(const json& verdict) {
  if (!verdict.is_object()) return std::nullopt;
  return verdict_status_named(verdict.at("status").get<std::string>());
}

/// The verdict on a program that ended before it came to one.
Verdict broken_off(const json& verdict, const Outcome& outcome) {
  const std::string at =
      verdict.is_object() && verdict.contains("at") ? verdict["at"].get<std::string>() : "";
  std::string cases;
  if (verdict.is_object())
    cases = cases_text(verdict, true) + cases_text(verdict, false) + mistakes_text(verdict);
  return {
      false,
      cases + (cases.empty() ? "" : "\n") + wrapped(end_text(outcome, at), 2) + output_text(outcome.output),
      "did not come to an end"};
}

}  // namespace

std::chrono::seconds judging_time() { return time_limit(std::chrono::seconds(10)); }

Verdict verdict_of(const std::string& text, const Outcome& outcome) {
  const json verdict = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool ended = outcome.end == Outcome::End::kExited && outcome.code == 0;
  const std::optional<VerdictStatus> status = status_in(verdict);
  if (!ended || !status || status == VerdictStatus::kRunning) return broken_off(verdict, outcome);

  const std::string refused = verdict.at("refused");
  if (!refused.empty())
    return {false, wrapped(fmt::format("Not run: {}.", refused), 2) + "\n" + bold("Not yet.") + "\n",
            "not run"};
  const std::string wrong = cases_text(verdict, false);
  const std::string notes = notes_text(verdict);
  // A note may say why a result is wrong; a finding says it better.
  const bool notes_first = !wrong.empty() && !has_finding(verdict);
  const std::string body = cases_text(verdict, true) + wrong + (notes_first ? notes : "") +
                           outputs_text(verdict) + mistakes_text(verdict) + budget_text(verdict) +
                           predictions_text(verdict) + (notes_first ? "" : notes) +
                           output_text(outcome.output);
  const std::string lesson = verdict.at("lesson");
  if (status == VerdictStatus::kSolved)
    return {true,
            body + "\n" +
                with_bold(wrapped(
                    fmt::format("Solved. {} ({})", verdict.at("learnt").get<std::string>(), lesson), 0)),
            "solved"};
  const char* why = !wrong.empty()                       ? "wrong"
                    : !verdict.at("predictions").empty() ? "not all numbers are right"
                                                         : "right, but over budget";
  return {false, body + "\n" + with_bold(wrapped(fmt::format("Not yet. The lesson: {}.", lesson), 0)), why};
}

}  // namespace workbook

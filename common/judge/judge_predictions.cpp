#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "harness/backends/backend.hpp"
#include "harness/problem.hpp"
#include "harness/tables/derived_counts.hpp"
#include "judge/parts.hpp"

namespace workbook {

using nlohmann::ordered_json;

namespace {

/// Whether a prediction is as near to a number as the exercise asks, or is the number rounded to a tenth.
bool is_near(double predicted, double number, double tolerance) {
  constexpr double kRounding = 0.051;
  return std::fabs(number - predicted) <= std::max(kRounding, tolerance * std::fabs(number));
}

/// Which of the prediction's words is predicted; 0 where no word has that number.
int word_predicted(const Prediction& prediction, double predicted) {
  for (int i = 1; i < prediction.words.count; ++i)
    if (predicted == i) return i;
  return 0;
}

/// A prediction compared with the number that is right.
const char* comparison(const Prediction& prediction, double predicted, double seen) {
  if (prediction.words.count)
    return word_predicted(prediction, predicted) == 0 ? "no answer" : predicted == seen ? "right" : "other";
  if (!std::isfinite(predicted)) return "no number";
  if (is_near(predicted, seen, prediction.tolerance)) return "right";
  return seen > predicted ? "more" : "fewer";
}

/// The explanation of the mistake that leads to a wrong prediction; empty where there is none.
const char* slip_of(const Prediction& prediction, double predicted) {
  for (const Slip& slip : prediction.slips)
    if (is_near(predicted, slip.number, prediction.tolerance)) return slip.says;
  return "";
}

/// \throws std::logic_error when a mistake would pass
void require_wrong_slips(const Prediction& prediction, double seen) {
  for (const Slip& slip : prediction.slips)
    if (std::string_view(comparison(prediction, slip.number, seen)) == "right")
      throw std::logic_error(fmt::format("{}: a mistake leads to the right number", prediction.name));
}

std::string text_of(const Prediction& prediction, double predicted) {
  if (prediction.words.count) return prediction.words[word_predicted(prediction, predicted)];
  return std::isnan(predicted) ? "nan" : fmt::format("{:.1f}", predicted);
}

/// The number that is right, where a prediction is near enough and not the same; else empty.
std::string difference(const Prediction& prediction, double predicted, double seen) {
  const bool same = is_near(predicted, seen, 0);
  return !same && is_near(predicted, seen, prediction.tolerance) ? fmt::format("{:.1f}", seen) : "";
}

const char* unit_of(const Prediction& prediction) {
  if (!prediction.run) return prediction.unit;
  if (prediction.launches) return "launches";
  return prediction.flops > 0 ? "FLOP a byte" : "bytes an element";
}

/// The number that a pipeline's prediction is about, from its counts for so many elements.
double counted_number(const Prediction& prediction, const Counts& counts, double elements) {
  if (prediction.launches) return static_cast<double>(counts.kernels);
  const double bytes = static_cast<double>(read_bytes(counts) + written_bytes(counts)) / elements;
  return prediction.flops > 0 ? prediction.flops / bytes : bytes;
}

/// Counts pipelines at the last shape of an exercise, each once: several predictions may be about one.
class Pipelines {
 public:
  explicit Pipelines(const Exercise& exercise)
      : exercise_(exercise), chapter_(chapter_of(exercise)), backend_(make_cpu_backend()) {}

  /// The number that is right.
  double number(const Prediction& prediction) {
    if (!prediction.run) return prediction.value;
    const Shape& shape = exercise_.shapes[exercise_.shapes.count - 1];
    if (!problem_) problem_.emplace(chapter_, shape, *backend_);
    if (!counted_.contains(prediction.run)) {
      Stage stage = {};
      stage.run = prediction.run;
      counted_[prediction.run] = problem_->run_once(stage);
    }
    return counted_number(prediction, counted_[prediction.run],
                          static_cast<double>(elements_of(exercise_, shape)));
  }

 private:
  const Exercise& exercise_;
  const Chapter chapter_;
  const std::unique_ptr<Backend> backend_;
  std::optional<Problem> problem_;  ///< none where no pipeline is run
  std::map<void (*)(const Data&), Counts> counted_;
};

}  // namespace

bool judge_predictions(const Exercise& exercise, const Answer& answer, const std::string& path,
                       ordered_json& verdict) {
  if (answer.predictions.count != exercise.predictions.count)
    throw std::logic_error("an answer does not have the numbers that are asked for");
  Pipelines pipelines(exercise);
  bool right = true;
  for (int i = 0; i < exercise.predictions.count; ++i) {
    const Prediction& prediction = exercise.predictions[i];
    const double predicted = answer.predictions[i];
    verdict["at"] = prediction.name;
    write_file(path, verdict);
    const double seen = pipelines.number(prediction);
    require_wrong_slips(prediction, seen);
    const std::string compared = comparison(prediction, predicted, seen);
    right &= compared == "right";
    verdict["predictions"].push_back({{"name", prediction.name},
                                      {"unit", unit_of(prediction)},
                                      {"predicted", text_of(prediction, predicted)},
                                      {"counted", compared},
                                      {"near", difference(prediction, predicted, seen)},
                                      {"slip", compared == "right" ? "" : slip_of(prediction, predicted)}});
  }
  return right;
}

}  // namespace workbook

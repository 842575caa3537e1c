// Runs the main of a user's file.
#include "play/runtime/run_program.hpp"

extern "C" int program_main(int argc, char** argv, char** environment);

int main(int argc, char** argv) { return workbook::run_program(argc, argv, program_main); }

#pragma once

#include <vector>

#include "assay/cli/command.hpp"

namespace assay::cli {

Command list_command();
Command new_command();
Command explain_command();
Command run_command();
Command dump_command();
Command sweep_command();
Command gate_command();
Command merge_command();
Command shrink_command();
Command export_command();
Command golden_command();
Command pack_command();
Command check_command();
Command report_command();
Command worker_command();

inline std::vector<Command> built_in_commands() {
  return {new_command(),    list_command(), explain_command(), run_command(),    dump_command(),
          sweep_command(),  gate_command(), merge_command(),   shrink_command(), export_command(),
          golden_command(), pack_command(), check_command(),   report_command(), worker_command()};
}

}  // namespace assay::cli

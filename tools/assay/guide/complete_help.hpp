#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace assay::cli {

/// Completes the help texts: adds the kind of value of every flag and positional argument
/// ("--budget <time>"), groups the flags of commands with many flags, and adds examples at the end.
void complete_help(CLI::App& app);

}  // namespace assay::cli

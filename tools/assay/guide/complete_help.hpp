#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace assay::cli {

/// Completes the help texts of all commands. Adds the kind of value to every flag and positional
/// argument ("--budget <time>"), sorts the flags of large commands under headings, and adds
/// examples at the end.
void complete_help(CLI::App& app);

}  // namespace assay::cli

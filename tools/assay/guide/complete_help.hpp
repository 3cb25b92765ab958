#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace assay::cli {

/// Adds the kind of value to the help of every flag and positional, such as "--budget <time>",
/// groups the flags of commands that have many, and adds examples to the end of their help.
void complete_help(CLI::App& app);

}  // namespace assay::cli

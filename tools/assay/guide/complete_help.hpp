#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace assay::cli {

/// Names the kind of value that every flag and positional takes, "--budget <time>", and ends the
/// help of commands with examples.
void complete_help(CLI::App& app);

}  // namespace assay::cli

#pragma once

#include <string_view>

/// The files of tools/templates and tools/examples that `assay new` writes. Each text ends with one
/// more line break than its file.
namespace assay::cli::assets {

std::string_view python_kernel();
std::string_view python_test();
std::string_view python_sweep();
std::string_view cpp_kernel();
std::string_view cpp_build();
std::string_view cpp_sweep();
std::string_view plugin_kernel();
std::string_view plugin_header();
std::string_view plugin_sweep();
std::string_view plugin_test();
std::string_view command_kernel();
std::string_view command_sweep();
std::string_view command_test();

}  // namespace assay::cli::assets

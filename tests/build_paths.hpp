#pragma once

#include <string>

/// Paths of sources and of what the build made, for tests. CMake's assay_add_paths() writes those
/// that a test program uses into a source file of its own. So ccache finds the test's other files
/// in another clone, whose paths are different.
namespace assay::tests {

std::string source_folder();  ///< the root of the repository
std::string program();        ///< the program `assay`
std::string aclnn_library();  ///< our C API
std::string plugin_folder();  ///< the folder of the test plug-ins
std::string naive_plugin();
std::string hostile_plugin();
std::string hostile_program();
std::string command_probe();  ///< with the emulator, if tests run in one
std::string crashing_hdf5();  ///< a library to preload

}  // namespace assay::tests

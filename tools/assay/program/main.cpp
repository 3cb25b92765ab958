#include "assay/cli/main.hpp"

#include "program/registry.hpp"

int main(int argc, char** argv) { return assay::cli::main(argc, argv, assay::cli::own_registry()); }

#pragma once

#include "assay/fixtures/launch.hpp"

namespace assay::adapters {

using fixtures::cannot_start;
using fixtures::describe_end;
using fixtures::Ends;
using fixtures::last_child_number;
using fixtures::Launch;
using fixtures::make_connection;
using fixtures::make_pipe;
using fixtures::own_environment;

}  // namespace assay::adapters

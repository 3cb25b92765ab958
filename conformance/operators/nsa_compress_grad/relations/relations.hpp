#pragma once

// The relations of the operator, for the templates that are instantiated for every operator.
#include "operators/nsa_compress_grad/traits.hpp"

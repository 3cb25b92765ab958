#pragma once

// Declares the operator's relations for the templates that are instantiated for every operator.
#include "operators/nsa_compress_grad/traits.hpp"

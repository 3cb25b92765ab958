#pragma once

// Makes the operator's relations visible to the templates that are instantiated for every operator.
#include "operators/nsa_compress/traits.hpp"

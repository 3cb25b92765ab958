#pragma once

/// The definitions of all that the suite does alike for every operator. The file of an operator
/// includes the headers with its own parts first, which the templates look for, then this one, and
/// instantiates them.
#include "generic/case.hpp"
#include "generic/coverage.hpp"
#include "generic/examination.hpp"
#include "generic/examine.hpp"
#include "generic/record.hpp"
#include "generic/shrink.hpp"
#include "generic/sweep.hpp"

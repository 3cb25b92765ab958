#pragma once

/// The definitions of all that the suite does alike for every operator. The file of an operator
/// includes the headers with its own parts first, which the templates look for, then this one, and
/// instantiates them.
#include "case/case.hpp"
#include "case/record.hpp"
#include "case/shrink.hpp"
#include "judge/examination.hpp"
#include "judge/examine.hpp"
#include "plan/coverage.hpp"
#include "report/sweep.hpp"

#pragma once

/// The definitions of all that the suite does alike for every operator. suite.cpp.in instantiates
/// them for those of the list; for another operator, whoever includes them.
#include "case/case.hpp"
#include "judge/case_in_steps.hpp"
#include "judge/judge_case.hpp"
#include "judge/prepared_case.hpp"
#include "plan/coverage.hpp"
#include "plan/field_coverage.hpp"
#include "plan/sample.hpp"
#include "report/record.hpp"
#include "sweep/shrink.hpp"
#include "sweep/sweep.hpp"

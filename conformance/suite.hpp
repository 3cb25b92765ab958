#pragma once

/// Templates of the test suite that are the same for every operator. suite.cpp.in instantiates them
/// for the listed operators. To add another operator, include this file and instantiate them.
#include "case/case.hpp"
#include "judge/case_in_steps.hpp"
#include "judge/judge_case.hpp"
#include "judge/prepared_case.hpp"
#include "judge/relations/places.hpp"
#include "judge/relations/prepared_relation.hpp"
#include "judge/relations/saved_values.hpp"
#include "plan/coverage.hpp"
#include "plan/field_coverage.hpp"
#include "plan/sample.hpp"
#include "report/record.hpp"
#include "sweep/shrink.hpp"
#include "sweep/sweep.hpp"

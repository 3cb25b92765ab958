#pragma once

// The suite's side of every operator of spec/operators.hpp.
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"

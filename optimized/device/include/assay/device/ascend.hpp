#pragma once

namespace assay::device {
struct Spec;
}

#pragma once

#include <Eigen/Core>

namespace sotto {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

}  // namespace sotto

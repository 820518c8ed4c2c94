#pragma once

// All that a program needs to train, apply, price and audit models. What authors of methods need
// beside it is in sotto/method.hpp.

#include "sotto/audit/audit.hpp"
#include "sotto/core/error.hpp"
#include "sotto/core/vector.hpp"
#include "sotto/core/version.hpp"
#include "sotto/data/load.hpp"
#include "sotto/data/schema.hpp"
#include "sotto/data/synthetic.hpp"
#include "sotto/model/metrics.hpp"
#include "sotto/model/model.hpp"
#include "sotto/optimizer/registry.hpp"
#include "sotto/privacy/accountant.hpp"
#include "sotto/privacy/calibrate.hpp"
#include "sotto/privacy/event.hpp"
#include "sotto/privacy/journal.hpp"
#include "sotto/record/run_record.hpp"
#include "sotto/report/report.hpp"
#include "sotto/task/task.hpp"

/* Compiled without exceptions and linked with what has them: the two do not meet. */
#include <3pt/3pt.hpp>

int results_status();

int results_status() {
  const tpt::result<tpt::config> config = tpt::config::parse("model: {d_model: 25}");
  return static_cast<int>(config.status());
}

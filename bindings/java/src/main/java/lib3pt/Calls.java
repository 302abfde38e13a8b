package lib3pt;

import java.lang.annotation.Documented;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Names the functions of 3pt.h that a method stands for, whose comments say the rest. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
public @interface Calls {
  /**
   * Their names.
   *
   * @return names as "tpt_model_fold"
   */
  String[] value();
}

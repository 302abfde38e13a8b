package lib3pt;

/** How a call uses an object. */
enum Use {
  /** At any time, also while another call runs. */
  ANY,
  /** With other readers. */
  SHARED,
  /** Alone. */
  ALONE,
  /** Alone, and nothing reads the model meanwhile: its weights change. */
  WRITING
}

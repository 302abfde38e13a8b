/**
 * Three-Phase Transformers: train and run them in this process, by the C library lib3pt.
 *
 * <p>Needs {@code --enable-native-access=lib3pt} ({@code ALL-UNNAMED} where it lies on the class
 * path) and the library itself; {@link lib3pt.Library} says where it is looked for.
 */
module lib3pt {
  exports lib3pt;
}

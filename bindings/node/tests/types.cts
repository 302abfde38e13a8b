/* The same by require. */
import lib3pt = require('lib3pt');

export const parameters: number = lib3pt.Config.preset('3pt-5m').parameterCount();

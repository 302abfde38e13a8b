/* What can be thrown. */
'use strict';
const { native } = require('./native.js');

/* A call that the library refused or could not do. code is the status's name, "TPT_E_IO". */
class TptError extends Error {
  constructor(status, message) {
    super(message);
    this.name = 'TptError';
    this.status = status;
    this.code = native().tpt_status_name(status);
  }
}

/* A handle that is closed (ERR_TPT_CLOSED) or in use (ERR_TPT_BUSY). The library was not called. */
class HandleError extends Error {
  constructor(code, message) {
    super(message);
    this.name = 'HandleError';
    this.code = code;
  }
}

module.exports = { TptError, HandleError };

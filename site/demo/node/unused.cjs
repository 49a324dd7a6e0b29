/** Stands in for a module that is imported, and never called. */
const unused = new Proxy(class Unused {}, {
  get: (target, name) => (name === 'prototype' || typeof name === 'symbol' ? target[name] : unused),
  apply: () => unused,
});

// esbuild gives an ES module that imports this an object with the same prototype.
module.exports = Object.create(unused);

export { Buffer } from 'buffer/';
export { default as process } from './process.js';
export { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } from './timers.js';

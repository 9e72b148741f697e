/** How many seeds the test suites run: all of them where `CI` is set, and fewer elsewhere, so that `npm test` stays short. @module */

const isFull = Boolean(process.env['CI'])

/** Seeds of the simulator in memory, which take some tens of milliseconds each, and on SQLite, whose commits are synced to the disk. */
export const simulatedSeeds = isFull ? { memory: 2_000, sqlite: 60 } : { memory: 250, sqlite: 10 }

/** Seeds of chaos, which take some seconds each. The few are some that kill processes and fork deeper than finality. */
export const chaosSeeds = isFull ? { from: 1, count: 100 } : { from: 10, count: 5 }

/** Seeds of crashes, each with ten kills, some of them after a freeze: 300 and more at points of the process. The few are one on PostgreSQL and one with a dispatcher in a process of its own. */
export const crashSeeds = isFull ? { from: 1, count: 34 } : { from: 5, count: 2 }

/** Seeds whose PostgreSQL goes away, and how often it does in each. */
export const outages = isFull ? { seeds: 6, each: 10 } : { seeds: 1, each: 5 }

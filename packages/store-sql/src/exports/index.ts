export * from './postgres.js'
export * from './sqlite.js'

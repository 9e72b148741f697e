export { type Console, type ConsoleBindings, type ConsoleDeps, createConsole } from '../create-console.js'
export type { Role, Viewer } from '../viewer.js'

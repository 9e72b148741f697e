export type { DemoEvent } from '../dev/demo-events.js'
export { version } from '../files.js'
export type { ExitCode, Io } from '../io.js'
export { runCli } from '../run-cli.js'

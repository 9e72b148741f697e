import { defineProject } from 'vitest/config'

/** The workspace's own tools, each run as the command that it is. */
export default defineProject({ test: { name: 'tooling', include: ['*.test.ts'], testTimeout: 180_000 } })

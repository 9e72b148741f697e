import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: ['packages/*', 'examples/*', 'scripts', 'simulation'],
    coverage: { provider: 'v8', include: ['packages/*/src/**'] },
  },
})

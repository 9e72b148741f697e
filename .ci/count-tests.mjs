/**
 * Prints `<passed> <failed>` of a vitest JSON report. Usage: node .ci/count-tests.mjs <report> <exit code of vitest>. A
 * timing test without a verdict on a loud machine is named and counts as neither. A skipped test counts as failed: CI
 * has everything that a test may need. So do a file that did not load, and an exit code other than 0 that no test
 * explains.
 *
 * @module
 */
import { readFileSync } from 'node:fs'

const [reportPath = '', exitCode = '1'] = process.argv.slice(2)
let report = { testResults: [] }
try {
  report = JSON.parse(readFileSync(reportPath, 'utf8'))
} catch (error) {
  console.error(`No test report: ${error.message}`)
}

let passed = 0
let failed = 0
for (const file of report.testResults) {
  for (const test of file.assertionResults) {
    if (test.status === 'passed') passed += 1
    else if (test.meta?.tooLoud)
      console.error(`too loud to tell: ${file.name} > ${test.fullName}: ${test.meta.tooLoud}`)
    else {
      failed += 1
      console.error(`${test.status}: ${file.name} > ${test.fullName}`)
    }
  }
  if (
    file.status === 'failed' &&
    file.assertionResults.every(({ status, meta }) => status === 'passed' || meta?.tooLoud)
  ) {
    failed += 1
    console.error(`failed outside of its tests: ${file.name}: ${file.message ?? ''}`)
  }
}
if (failed === 0 && (Number(exitCode) !== 0 || passed === 0)) {
  failed = 1
  console.error(`vitest ended with exit code ${exitCode} and ${passed} passed tests`)
}
console.log(`${passed} ${failed}`)

/** The lines that `doctor` prints: a row for each probe, the findings, a summary. @module */
import type {
  DoctorFinding,
  DoctorFramework,
  DoctorProbe,
  DoctorReport,
  DoctorVerdict,
} from '@payment-integration/testing/doctor'
import type { Style } from '../../output.js'

const verdictWidth = 7
const nameWidth = 28
const frameworkWidth = 12

const colourOf: Readonly<Record<DoctorVerdict, keyof Style>> = {
  pass: 'green',
  fail: 'red',
  warn: 'yellow',
  'not-run': 'dim',
}

/** The line before the first probe. */
export function headText({ url, hashPrefix }: { readonly url: string; readonly hashPrefix: string }): string[] {
  return [`Probing ${url}. The hashes of all test payments begin with ${hashPrefix}.`, '']
}

/** The row of a probe. */
export function probeText({ name, verdict, evidence }: DoctorProbe, style: Style): string[] {
  const coloured = style[colourOf[verdict]](verdict.padEnd(verdictWidth))
  return [`${coloured}  ${name.padEnd(nameWidth)}${evidence}`.trimEnd()]
}

/** A finding: its cause, its probes, and the lines to change. */
export function findingText(
  { code, sentence, verdict, probes, fix }: DoctorFinding,
  framework: DoctorFramework | undefined,
  style: Style,
): string[] {
  const lines = Object.entries(fix.lines).filter(([name]) => framework === undefined || name === framework)
  return [
    '',
    `${style[colourOf[verdict]](verdict)}  ${style.bold(code)}: ${sentence}`,
    `  seen by ${probes.join(', ')}`,
    `  ${fix.summary}`,
    ...lines.map(([name, line]) => `    ${name.padEnd(frameworkWidth)}${line}`),
  ]
}

/** The last line. */
export function summaryText({
  passed,
  failed,
  warned,
  notRun,
}: Pick<DoctorReport, 'passed' | 'failed' | 'warned' | 'notRun'>): string[] {
  return ['', `${passed} passed, ${failed} failed, ${warned} with a warning, ${notRun} not run.`]
}

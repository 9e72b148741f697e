/** Formats an explanation for people: verdict, causes with evidence and cure, then the facts. @module */
import type { Explanation, Finding, HeaderField, RequestForm } from '@payment-integration/testing/explain'
import { grouped, span, table } from '../../format.js'

/** An explanation, with how the request was read. */
export interface ExplainedRequest extends Explanation {
  readonly form: RequestForm
  /** Doubts about the bytes. */
  readonly warnings: readonly string[]
  /** The time of receipt: unix seconds. */
  readonly now: number
}

/** Lines: the verdict first. */
export function explanationText(explained: ExplainedRequest): string[] {
  const { findings, warnings } = explained
  const lines = findings.find((finding) => finding.lines.length > 0)?.lines ?? []
  return [
    verdict(explained),
    ...findings.flatMap((finding, index) => ['', ...findingText(finding, index + 1)]),
    ...(lines.length === 0 ? [] : ['', 'The raw body in your framework:']),
    ...indented(table(lines.map(({ framework, line }) => [framework, line]))),
    '',
    ...facts(explained),
    ...warnings.map((warning) => `Note: ${warning}`),
  ]
}

function verdict({ verified, signature, signedBy, findings: [first] }: ExplainedRequest): string {
  if (verified) return `Verified: ${signedBy ?? ''} signed these bytes.`
  const doubt = first === undefined || first.proved ? '' : ', probably'
  const though = signature === 'matches' ? ', although the signature matches' : ''
  return `Not verified${though}${doubt}: ${first?.cause ?? 'the reason is not known.'}`
}

function findingText({ code, proved, cause, evidence, change }: Finding, number: number): string[] {
  return [
    `${number}. ${code} (${proved ? 'proved' : 'likely'})`,
    `   Cause:    ${cause}`,
    ...evidence.map((fact) => `   Evidence: ${fact}`),
    `   Change:   ${change}`,
  ]
}

function facts({ header, ageSeconds, toleranceSeconds, bodyBytes, signedBytes }: ExplainedRequest): string[] {
  const fields = header.fields.map(fieldText)
  return [
    `Signature header: ${header.count === 0 ? 'not found under its name' : fields.length > 0 ? fields.join(', ') : 'no field found'}.`,
    ageSeconds === null
      ? 'Age: unknown.'
      : `Age: ${ageText(ageSeconds)}; up to ${toleranceSeconds} s on either side are accepted.`,
    `Body: ${grouped(bodyBytes)} bytes${signedBytes === null ? '' : `; signed with its time: ${grouped(signedBytes)} bytes`}.`,
  ]
}

function fieldText({ name, length, status }: HeaderField): string {
  return `${name} (${status}, ${grouped(length)} characters)`
}

function ageText(seconds: number): string {
  const size = Math.abs(seconds)
  const rounded = size < 90 ? '' : ` (${span(size)})`
  return `${size} s${rounded}${seconds < 0 ? ' in the future' : ''}`
}

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`)

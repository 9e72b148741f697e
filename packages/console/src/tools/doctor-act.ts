/** Probes the receiver of an integration, as a job whose results are the causes and the probes. @module */
import type { Act } from '../acts/act.js'
import { ActError } from '../acts/act-error.js'
import { jobPath } from '../jobs/job-pages.js'
import type { JobRow } from '../jobs/job-types.js'
import { grouped, shortHex } from '../view/text.js'
import { givenTool, integrationOf } from './integration-field.js'
import type { ReceiverProbe } from './tools.js'

const tones = { pass: 'good', fail: 'bad', warn: 'warn', 'not-run': 'plain' } as const

/** Field `integration`. Leads to the job. */
export const doctorAct: Act = {
  needs: 'operator',
  async run(input) {
    const doctor = givenTool(input.tools.doctor)
    const { address, notificationUrl } = await integrationOf(input)
    if (notificationUrl === null) throw new ActError('The integration has no notification URL to probe. Set one first.')
    const job = input.jobs.start({
      title: `Doctor of ${shortHex(address)}`,
      actor: input.visit.actor,
      async run(report, signal) {
        await input.commands.recordAct({ action: 'integration.receiver_probed', subject: address })
        let done = 0
        const onProbe = (probe: ReceiverProbe) => {
          done += 1
          report({ done, words: `${grouped(done)} probes ended.` })
          report.row(probeRow(probe))
        }
        const result = await doctor({ integrationAddress: address, signal, onProbe })
        report.first(
          result.findings.map(({ verdict, sentence, probes, fix }) => ({
            word: verdict === 'fail' ? 'cause' : 'advice',
            tone: tones[verdict],
            text: sentence,
            remarks: [fix.summary, `Seen in: ${probes.join(', ')}`],
          })),
        )
        const { passed, failed, warned, notRun } = result
        report({ words: `${passed} probes passed, ${failed} failed, ${warned} warned, ${notRun} did not run.` })
      },
    })
    return { to: jobPath(job) }
  },
}

function probeRow({ name, verdict, sent, expected, evidence }: ReceiverProbe): JobRow {
  const remarks = verdict === 'pass' ? [evidence] : [`Sent: ${sent}. Expected: ${expected}.`, evidence]
  return {
    word: verdict.replace('-', ' '),
    tone: tones[verdict],
    text: name,
    remarks: remarks.filter((each) => each !== ''),
  }
}

/** Makes a page for each language from the verifiers of `vectors/verifiers`, which run over the vectors. @module */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Language {
  readonly title: string
  readonly file: string
  /** How to get the body as bytes, by framework. */
  readonly body: readonly string[]
  readonly header: string
  readonly nowMs: string
  /** How a rejection is reported. */
  readonly rejection: string
}

const languages: Readonly<Record<string, Language>> = {
  python: {
    title: 'Python',
    file: 'python/verify.py',
    body: ['Flask: `request.get_data()`', 'Django: `request.body`', 'FastAPI: `await request.body()`'],
    header: 'request.headers.get("X-Service-Signature")',
    nowMs: 'time.time_ns() // 1_000_000',
    rejection: 'Else it raises `Rejected` with the code.',
  },
  ruby: {
    title: 'Ruby',
    file: 'ruby/verify.rb',
    body: ['Rails: `request.raw_post`', 'Rack: `request.body.read`'],
    header: "request.get_header('HTTP_X_SERVICE_SIGNATURE')",
    nowMs: 'Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)',
    rejection: 'Else it raises `Rejected` with the code.',
  },
  php: {
    title: 'PHP',
    file: 'php/verify.php',
    body: ["PHP: `file_get_contents('php://input')`", 'Laravel and Symfony: `$request->getContent()`'],
    header: "$_SERVER['HTTP_X_SERVICE_SIGNATURE'] ?? null",
    nowMs: '(int) (microtime(true) * 1000)',
    rejection: 'Else it throws `Rejected` with the code.',
  },
  go: {
    title: 'Go',
    file: 'go/verify.go',
    body: ['`net/http`: `io.ReadAll(request.Body)`', 'Gin: `context.GetRawData()`'],
    header: 'request.Header.Get("X-Service-Signature")',
    nowMs: 'time.Now().UnixMilli()',
    rejection: 'Else it is -1, with the code.',
  },
  java: {
    title: 'Java',
    file: 'java/Verifier.java',
    body: ['Servlets: `request.getInputStream().readAllBytes()`', 'Spring: a parameter `@RequestBody byte[] body`'],
    header: 'request.getHeader("X-Service-Signature")',
    nowMs: 'System.currentTimeMillis()',
    rejection: 'It comes as `ok 0`; everything else is the code.',
  },
}

/** Pages by route: one for each language. */
export function buildLanguagePages(root: string): Map<string, string> {
  const pages = Object.entries(languages).map(
    ([name, { title, file, body, header, nowMs, rejection }]): [string, string] => {
      const code = readFileSync(join(root, 'vectors/verifiers', file), 'utf8').trimEnd()
      const parts = [
        `# Receive webhooks with ${title}`,
        `One file without a dependency verifies a notification. It passes every case of [the test vectors](/vectors/).`,
        `\`\`\`${name}\n${code}\n\`\`\``,
        '## Call it',
        `1. Read the body as bytes, before any parser of JSON:\n${body.map((each) => `   - ${each}`).join('\n')}`,
        `2. Pass a list of your signing secrets, even of one only, the signature \`${header}\`, the bytes, the time \`${nowMs}\`, and 300 seconds of tolerance.`,
        `3. The result is the index of the secret that matched, possibly 0: the delivery is genuine. ${rejection} Answer 401 for \`ERR_SIGNATURE_MISSING\` and \`ERR_SIGNATURE_MISMATCH\`, else 400.`,
        '4. Parse the body. Its `integrationAddress` must be the value of `X-Service-Integration`. In one transaction, apply it only if its [version](/concepts/version.md) is greater than the stored one, and store that version.',
        '5. Answer 2xx, also for a version that you have. After any other answer but 410 the service retries for about three days.',
        '## Prove it',
        `Run your copy over [signature.json](/vectors/): it has the secrets, header, body, time and verdict of each case. The [doctor](/doctor.md) then probes the running receiver, in any language. What each rejection means: [error codes](/errors.md#receiving-a-webhook).`,
      ]
      return [`receive/${name}`, `${parts.join('\n\n')}\n`]
    },
  )
  return new Map(pages)
}

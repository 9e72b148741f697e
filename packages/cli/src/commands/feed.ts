/** `payment-integration feed publish`: reads chains once for many deployments. @module */
import type { Command } from 'commander'
import { examples, type Finish, optionsOf } from '../command.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter, logToStandardError } from '../output.js'
import { parseDuration, wholeNumberParser } from '../parse.js'

/** Adds the group and its command. */
export function addFeed(program: Command, io: Io, finish: Finish): void {
  program
    .command('feed')
    .summary('publish proven blocks of chains for many deployments')
    .description('publish proven blocks of chains for many deployments, over NATS JetStream')
    .helpCommand(false)
    .addHelpText('after', examples('feed publish'))
    .command('publish')
    .description('read the chains of PI_RPC_URL_<chainId> and publish them to PI_FEED_URL until Ctrl-C or SIGTERM')
    .option(
      '--replicas <count>',
      'copies of each new stream, on different servers (default 3)',
      wholeNumberParser(1, 5),
    )
    .option('--max-age <duration>', 'age at which a block leaves a new stream (default 7d)', parseDuration)
    .option(
      '--max-megabytes <size>',
      'size at which the oldest blocks leave a new stream (default 1024)',
      wholeNumberParser(1, 1_000_000),
    )
    .addHelpText('after', examples('feed publish', 'feed publish --replicas 1 --max-age 1d --max-megabytes 100'))
    .action(async (_options, command) => finish(await publish(optionsOf<PublishOptions>(command), io)))
}

/** Options of {@link publish}. They count for a stream that does not exist yet. */
interface PublishOptions {
  readonly replicas?: number | undefined
  /** In milliseconds. */
  readonly maxAge?: number | undefined
  readonly maxMegabytes?: number | undefined
  /** One JSON object per line. @default false */
  readonly json?: boolean | undefined
}

/**
 * Publishes until `io.signal` aborts. It opens no database.
 * @throws ConfigError `ERR_CONFIG` with every problem; TypeError when the credentials cannot be read.
 */
async function publish({ replicas, maxAge, maxMegabytes, json = false }: PublishOptions, io: Io): Promise<ExitCode> {
  const { publishFeed, readFeedPublisherConfig } = await import('@payment-integration/server/service')
  const config = readFeedPublisherConfig(io.env)
  const report = createReporter(io, json)
  const logger = await logToStandardError(config, io)
  const chainIds = config.chains.map(({ chainId }) => chainId)
  report({ event: 'publishing', chainIds }, () => [`Publishing chains ${chainIds.join(', ')}. Ctrl-C stops it.`])
  const maxBytes = maxMegabytes === undefined ? undefined : maxMegabytes * 1_048_576
  await publishFeed(config, io.signal, { replicas, maxAgeMs: maxAge, maxBytes, logger })
  report({ event: 'stopped' }, () => ['Stopped.'])
  return 0
}

/** Who operates the service, on the command line. @module */
import { InvalidArgumentError } from 'commander'

/**
 * Reads a name for the audit log.
 * @throws InvalidArgumentError When it is empty, longer than 100 characters, has spaces around it, or control characters in it.
 */
export function parseActor(text: string): string {
  if (!/^[^\p{C}\p{Z}](?:[^\p{C}\p{Zl}\p{Zp}]{0,98}[^\p{C}\p{Z}])?$/u.test(text))
    throw new InvalidArgumentError('Expected a name of 1 to 100 characters, without spaces around it.')
  return text
}

/** Notification URLs on the command line. Source: INTERFACE 6 (the URL must be HTTPS). @module */
import { InvalidArgumentError } from 'commander'

/**
 * Reads an absolute http or https URL. Which of the two is allowed is decided by the service: https, or http to this
 * machine in development.
 * @returns The URL as it was given.
 * @throws InvalidArgumentError When it is anything else.
 */
export function parseNotificationUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError('Expected a full URL such as https://shop.example/webhook.')
  return text
}

/** Like {@link parseNotificationUrl}, and `none` for no notifications (null). */
export function parseOptionalUrl(text: string): string | null {
  return text === 'none' ? null : parseNotificationUrl(text)
}

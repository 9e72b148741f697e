/** Formats times in the four formats of the provider, all in UTC. @module */

/** `2025-08-05 15:31:57` */
export function toSeconds(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

/** `2025-08-05 15:31:57+0000` */
export function toSecondsWithOffset(ms: number): string {
  return `${toSeconds(ms)}+0000`
}

/** `2025-08-05 15:31:57.321` */
export function toMilliseconds(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23).replace('T', ' ')
}

/** `Tue Aug 05 15:31:57 UTC 2025` */
export function toWords(ms: number): string {
  const [, day, month, year] = /^(\w{3}), \d\d (\w{3}) (\d{4})/.exec(new Date(ms).toUTCString()) ?? []
  const date = new Date(ms).toISOString()
  return `${day} ${month} ${date.slice(8, 10)} ${date.slice(11, 19)} UTC ${year}`
}

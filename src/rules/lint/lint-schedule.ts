import { Cron } from 'croner'

const maxLength = 100

/** True if a text is a schedule: the five fields of a crontab. */
export function isSchedule(text: string): boolean {
  if (text.length > maxLength || !/^\S+(?: +\S+){4}$/.test(text)) return false
  try {
    cron(text)
    return true
  } catch {
    return false
  }
}

/** True if a schedule, in UTC, has a time later than `after` and not later than `until`. */
export function isDue(schedule: string, after: Date, until: Date): boolean {
  const next = cron(schedule).nextRun(after)
  return next !== null && next <= until
}

function cron(schedule: string): Cron {
  return new Cron(schedule, { mode: '5-part', timezone: 'UTC', paused: true })
}

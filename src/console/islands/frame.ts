import { relativeTime } from './relative-time.ts'

/** What every page does beyond HTML: times in words stay true while it is open. */
setInterval(() => {
  for (const time of document.querySelectorAll('time[datetime]')) {
    time.textContent = relativeTime(new Date(time.getAttribute('datetime') ?? ''), new Date())
  }
}, 60_000)

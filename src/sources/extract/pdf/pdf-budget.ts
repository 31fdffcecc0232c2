/** When this is spent no further page is read, so that what was read is not lost to the limits of the process. */
const cpuBudget = 45_000_000 // microseconds

/** Returns a function that tells whether most of the time that reading a document may take has gone by since this call. */
export function timeBudget(): () => boolean {
  const computing = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(computing)
    return user + system > cpuBudget
  }
}

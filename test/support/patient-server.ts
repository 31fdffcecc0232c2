/** Options of a server whose clients ask as often as they like, and may be busy between two requests. */
export const patientServer = {
  rateReads: 100_000,
  rateWrites: 100_000,
  rateChats: 100_000,
  timeouts: { keepAlive: 60_000 },
}

/** The result of some work, or another one after some milliseconds. What the work throws in time is thrown. */
export async function withinPatience<Result>(
  milliseconds: number,
  work: Promise<Result>,
  late: () => Result,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  try {
    return await Promise.race([work, timeout.then(late)])
  } finally {
    clearTimeout(timer)
  }
}

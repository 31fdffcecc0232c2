/** Why a ref of a push is refused; one line, for the pusher's terminal. */
export class PushRefused extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'PushRefused'
  }
}

// Thrown in place of an act whose question for a second factor the person closed; nothing was sent.

export class StepUpClosed extends Error {
  constructor() {
    super('You closed the dialog. Nothing was done.');
  }
}

// Thrown instead of an act if the person closed the step-up dialog; nothing was sent.

export class StepUpClosed extends Error {
  constructor() {
    super('You closed the dialog. Nothing was done.');
  }
}

// What stands in the place of a page that could not be drawn: the frame around it stays, and leads to the other pages.
import { Component, type ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';
import { Page } from './page.tsx';

type State = { readonly error: unknown; readonly hasFailed: boolean };

/** Give it the page's address as its key: another page begins without the error. */
export class PageBoundary extends Component<{ readonly children: ReactNode }, State> {
  override readonly state: State = { error: null, hasFailed: false };

  static getDerivedStateFromError(error: unknown): State {
    return { error, hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <Page title="This page cannot be shown">
        <ErrorNotice error={this.state.error} />
        Load it again, or go to another page. Nothing was changed by this.
      </Page>
    );
  }
}

// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// @notice Answers `symbol()` and `decimals()` with bytes given at the start: any answer a foreign token may give.
contract OddToken {
    bytes private symbolAnswer;
    bytes private decimalsAnswer;

    constructor(bytes memory symbolAnswer_, bytes memory decimalsAnswer_) {
        symbolAnswer = symbolAnswer_;
        decimalsAnswer = decimalsAnswer_;
    }

    fallback(bytes calldata) external returns (bytes memory) {
        return msg.sig == 0x95d89b41 ? symbolAnswer : decimalsAnswer;
    }
}

/// @notice Refuses every call.
contract RevertingToken {
    fallback() external {
        revert("no metadata");
    }
}

/// @notice Burns all gas it gets.
contract EndlessToken {
    fallback() external {
        while (true) {}
    }
}

/// @notice Stops on an invalid opcode.
contract InvalidToken {
    fallback() external {
        assembly {
            invalid()
        }
    }
}

/// @notice Answers two and a half megabytes.
contract HugeToken {
    fallback() external {
        assembly {
            mstore(0, 32)
            mstore(32, 2500000)
            return(0, 2500064)
        }
    }
}
